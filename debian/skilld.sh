#!/bin/sh
exec /usr/lib/skilld/bin/python3 -P -m skilld "$@"
