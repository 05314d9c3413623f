"""Files derived from the course: the index of terms, the compose file, the list of jars."""
