"""What one attempt worked out, kept for the next: columns by row or by state, their sums, and classes of equal pods.

Nothing here knows an extension point. What the columns mean, and when plugins are asked, is ``framework.profiles``.
"""
