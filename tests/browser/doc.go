// Package browser tests the console in a real browser: Debian's Chromium, driven by its debugging
// protocol, against the built gateway as a process.
package browser
