"""One lock for every way in which a job can start: on a host by flock, in a database by its own named lock."""
