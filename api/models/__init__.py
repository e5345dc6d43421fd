"""What the HTTP API takes and gives, as OpenAPI shows it. Only the routes know these types."""
