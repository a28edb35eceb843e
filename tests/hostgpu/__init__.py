"""A GPU that is only host memory: TensorFlow's device, the driver's library, a neighbour."""
