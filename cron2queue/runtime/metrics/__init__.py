"""The figures that Prometheus reads: collected from the views, written as text, served or put into a file."""
