"""Sends spans to an OpenTelemetry collector. Loaded only where one is named (schedweb/observing/spans.py): the SDK and
what it stands on take a third of a second to import."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer


def tracer() -> Tracer:
    # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before this.
    provider = TracerProvider(resource=Resource({SERVICE_NAME: "scheduling-playground"}).merge(Resource.create()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("schedweb")
