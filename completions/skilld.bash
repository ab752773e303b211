# Completes skilld in bash: what bash-completion reads when Tab is first pressed behind `skilld`.
eval "$(skilld completion bash)"
