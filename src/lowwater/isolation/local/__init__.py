"""Fresh processes on this machine, forked from one that has imported the framework already."""
