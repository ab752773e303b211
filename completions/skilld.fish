# Completes skilld in fish, which reads it when Tab is first pressed behind `skilld`.
skilld completion fish | source
