"""Settings over time, published tables, and recommendations: routes, pages, and what they are made from."""
