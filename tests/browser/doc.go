// Package browser tests the console in real browsers against the built gateway as a process: Debian's
// Chromium, driven by its debugging protocol, and Debian's Firefox, driven by WebDriver BiDi. What a
// page does with the keyboard, sockets, streams, cookies and the policy of its scripts is tested in each;
// what no browser decides, in Chromium alone.
package browser
