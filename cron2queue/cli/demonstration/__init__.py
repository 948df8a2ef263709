"""The demonstration: the whole road on the bundled shop, each step run as a person would and checked."""
