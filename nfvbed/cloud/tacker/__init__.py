"""Onboarding on an OpenStack: Tacker's legacy and SOL APIs, what caused a failure, and what is left of ours."""
