"""Every SQL statement, and nothing else: schema, migrations, named queries, one typed function per query."""
