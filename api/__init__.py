"""The path of a query: retrieve -> fuse -> gate -> cite; and its surfaces."""
