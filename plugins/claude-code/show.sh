#!/bin/sh
# Shows what skilld knows: `show.sh review` and `show.sh why FILE:LINE`. It runs no other command of skilld.
if ! command -v skilld >/dev/null 2>&1; then
	echo "skilld is not installed, or not on the PATH of this session."
	echo "This plugin only shows what the program finds. To install it, in a checkout of its repository: pipx install ."
	echo "Then: skilld setup"
	exit 0
fi
case "$1" in
review) exec skilld proposals ;;
why) exec skilld why "$2" ;;
*)
	echo "usage: show.sh review | why FILE:LINE" >&2
	exit 2
	;;
esac
