#!/bin/sh
# Prints the images that deploy/Dockerfile and docker-compose.yml begin with, each with the digest that its tag has now:
#     deploy/pin_images.sh >> .env
# Builds and starts then take these instead of the digests that those files name. Test before you rely on them.
set -eu

for pair in \
  NODE_IMAGE=node:22-slim \
  PYTHON_IMAGE=python:3.12-slim \
  POSTGRES_IMAGE=postgres:17-alpine \
  REDIS_IMAGE=redis:7.4-alpine
do
  image=${pair#*=}
  digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
  case $digest in
    sha256:????????????????????????????????????????????????????????????????) ;;
    *) echo "No digest of $image: docker answered \"$digest\"." >&2; exit 1 ;;
  esac
  echo "${pair%%=*}=$image@$digest"
done
