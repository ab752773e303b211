"""`skilld skills ACTION`: the person's library, one file per action or group of related actions."""
