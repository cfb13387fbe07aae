"""Runs Locust. As a package, so that this directory is found before a Locust that this Python may have."""
