"""A panel in Horizon that shows what nfvbed has deployed and measured, and leads into nfvbed's dashboard.

It runs on Horizon's Python, beside Django, and imports nothing else of nfvbed: it reads the dashboard's JSON API.
"""
