package caddymodule

import "strings"

// barCells is the width of a bar in a table, in characters.
const barCells = 10

// eighths are the characters of a cell that is filled from the left, by eighths.
var eighths = []rune(" ▏▎▍▌▋▊▉")

// bar draws a share of 0 to 1 as a bar that is width characters wide. More than 1 is drawn as full;
// the least share above 0 is visible, and a bar is full only if the share is.
func bar(share float64, width int) string {
	steps := width * len(eighths)
	filled := int(share * float64(steps))
	switch {
	case !(share > 0):
		filled = 0
	case share >= 1:
		filled = steps
	case filled == 0:
		filled = 1
	}
	text := strings.Repeat("█", filled/len(eighths))
	if rest := filled % len(eighths); rest > 0 {
		text += string(eighths[rest])
	}
	return text + strings.Repeat("·", width-len([]rune(text)))
}
