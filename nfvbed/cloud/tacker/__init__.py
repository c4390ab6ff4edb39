"""Onboarding on an OpenStack: Tacker's legacy and SOL APIs, causes of failures, and what is left of ours."""
