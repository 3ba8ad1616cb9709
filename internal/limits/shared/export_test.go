package shared

import "time"

// BelieveNothing makes Exhausted ask the engine always.
func (l *Ledger) BelieveNothing() { l.view.fresh = 0 * time.Second }

// BookLine is what a row adds to the book.
type BookLine struct {
	Subject, Budget, Period string
	Spent, Calls            int64
}

// ParseRow reads a row of the book.
func ParseRow(row []byte) (crash string, lines []BookLine, err error) {
	crash, all, err := parseRow(row)
	for _, l := range all {
		lines = append(lines, BookLine{l.subject, l.budget, l.period, l.spent, l.calls})
	}
	return crash, lines, err
}
