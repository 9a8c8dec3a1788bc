"""Neural networks in single precision."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def convolution(x, weights, padding="VALID"):
    return jax.lax.conv_general_dilated(x, weights, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv2d_bias(input, weights, bias):
    return (convolution(input, weights) + bias,)


def pool(x):
    n, h, w, c = x.shape
    return x[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))


def lenet(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b):
    x = pool(jax.nn.relu(convolution(input, conv1) + conv1bias))
    x = pool(jax.nn.relu(convolution(x, conv2) + conv2bias))
    x = jax.nn.relu(x.reshape(len(x), -1) @ fc1w + fc1b)
    x = jax.nn.relu(x @ fc2w + fc2b)
    return (x @ fc3w + fc3b,)


def softmax(x):
    return (jax.nn.softmax(x, axis=-1),)


def mlp(input, w1, b1, w2, b2, w3, b3):
    x = jax.nn.relu(input @ w1 + b1)
    x = jax.nn.relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def normalised(x):
    return (x - jnp.mean(x, axis=0)) / jnp.sqrt(jnp.std(x, axis=0) + 1e-5)


def resnet(input, conv1, conv2, conv3):
    # The border of zeros is normalised to zeros.
    x = jax.nn.relu(normalised(convolution(input, conv1)))
    x = jax.nn.relu(normalised(convolution(x, conv2, "SAME")))
    return (jax.nn.relu(normalised(convolution(x, conv3)) + input),)
