package failover

import "time"

// A window is a minute in slots.
const (
	slots    = 6
	slotTime = 10 * time.Second
)

// window counts the attempts of the last minute.
type window struct {
	ring [slots]slot
	from int64 // the first slot that counts for a cool-down: those before are of an earlier failure
}

// slot counts the attempts of a part of the minute.
type slot struct {
	number             int64
	attempts, failures int
}

func (w *window) count(number int64, failure bool) {
	s := &w.ring[number%slots]
	if s.number != number {
		*s = slot{number: number}
	}
	s.attempts++
	if failure {
		s.failures++
	}
}

// since sums the slots of the last minute from a number on.
func (w *window) since(number, from int64) (attempts, failures int) {
	for _, s := range w.ring {
		if s.number > number-slots && s.number >= from {
			attempts += s.attempts
			failures += s.failures
		}
	}
	return attempts, failures
}
