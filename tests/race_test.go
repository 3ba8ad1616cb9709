//go:build race

package tests

// raceDetector reports whether the tests are built with -race.
const raceDetector = true
