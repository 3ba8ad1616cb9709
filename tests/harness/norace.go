//go:build !race

package harness

// RaceDetector reports whether the tests are built with -race.
const RaceDetector = false
