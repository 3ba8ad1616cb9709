//go:build !amd64

package jsonscan

const vectors = false

func scan(_ []byte, i int) int { return i }
