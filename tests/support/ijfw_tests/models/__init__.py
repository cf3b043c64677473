"""Model servers on loopback that play what real ones do, and a project whose sessions end."""
