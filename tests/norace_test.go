//go:build !race

package tests

// raceDetector tells that the tests are built with -race.
const raceDetector = false
