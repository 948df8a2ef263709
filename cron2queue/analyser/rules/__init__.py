"""One module for each rule; its code, docstring and examples are its page and its tests."""
