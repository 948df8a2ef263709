"""What the operators' commands draw: values in, lines of styled text, JSON records or one HTML page out."""
