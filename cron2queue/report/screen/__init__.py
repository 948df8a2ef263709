"""The parts of the terminal report, one module each, from the top of the screen to its end."""
