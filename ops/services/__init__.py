"""Private Postgres and Valkey under one data directory, and the processes around them."""
