package limits

import (
	"fmt"
	"time"
)

// Check refuses values that no configuration can produce and no database should hold.
func (r *ReserveRequest) Check() error {
	switch {
	case r.Call == "" || len(r.Call) > MaxCall:
		return fmt.Errorf("%w: a call's id of %d bytes", ErrInvalid, len(r.Call))
	case r.Most.Nano < 0 || r.Most.Tokens < 0 || r.Likely.Nano < 0 || r.Likely.Tokens < 0:
		return fmt.Errorf("%w: a negative amount", ErrInvalid)
	}
	return CheckSubjects(r.At, r.Subjects)
}

// CheckSettle refuses a settlement that no call makes.
func CheckSettle(call string, used Amount) error {
	if call == "" || len(call) > MaxCall || used.Nano < 0 || used.Tokens < 0 {
		return fmt.Errorf("%w: settling a call's id of %d bytes with %d nano-USD and %d tokens", ErrInvalid, len(call), used.Nano, used.Tokens)
	}
	return nil
}

// CheckSubjects refuses the time and the subjects of a message that no configuration can produce.
func CheckSubjects(at time.Time, subjects []Subject) error {
	if sec := at.Unix(); sec < 0 || sec > maxUnix {
		return fmt.Errorf("%w: a time outside the years 1970 to 9999", ErrInvalid)
	}
	if len(subjects) > MaxSubjects {
		return fmt.Errorf("%w: %d subjects, at most %d are possible", ErrInvalid, len(subjects), MaxSubjects)
	}
	for i := range subjects {
		s := &subjects[i]
		if s.Name == "" || len(s.Name) > MaxName || len(s.Budgets) > MaxRules {
			return fmt.Errorf("%w: a subject's name of %d bytes with %d budgets", ErrInvalid, len(s.Name), len(s.Budgets))
		}
		for j := range i {
			if subjects[j].Name == s.Name {
				return fmt.Errorf("%w: subject %q twice", ErrInvalid, s.Name)
			}
		}
		if err := checkBudgets(s.Budgets); err != nil {
			return err
		}
	}
	return nil
}

func checkBudgets(budgets []Budget) error {
	for i, b := range budgets {
		if b.Unit != Money && b.Unit != Tokens || b.Period < Daily || b.Period > Total || b.Limit < 1 {
			return fmt.Errorf("%w: budget %q", ErrInvalid, b)
		}
		for _, other := range budgets[:i] {
			if b.Unit == other.Unit && b.Period == other.Period {
				return fmt.Errorf("%w: two budgets of %s for one %s", ErrInvalid, b.Unit, b.Period)
			}
		}
	}
	return nil
}

// Check refuses a subject whose limits contradict each other or cannot be kept. It is for
// configurations.
func (s Subject) Check() error {
	if s.Name == "" || len(s.Name) > MaxName {
		return fmt.Errorf("%w: a name of %d bytes", ErrInvalid, len(s.Name))
	}
	if len(s.Rates) > MaxRules || len(s.Budgets) > MaxRules {
		return fmt.Errorf("%w: more than %d rates or budgets", ErrInvalid, MaxRules)
	}
	for i, r := range s.Rates {
		if r.Unit != Requests && r.Unit != Tokens || !knownWindow(r.Window) || r.Limit < 1 {
			return fmt.Errorf("%w: rate %q", ErrInvalid, r)
		}
		for _, other := range s.Rates[:i] {
			if r.Unit == other.Unit && r.Window == other.Window {
				return fmt.Errorf("%w: two rates of %s for one %s", ErrInvalid, r.Unit, WindowName(r.Window))
			}
		}
	}
	c := s.Concurrency
	if c.Limit < 0 || c.Queue < 0 || c.Wait < 0 || c.Limit > maxConcurrent || c.Queue > maxConcurrent || c.Wait > maxQueueWait {
		return fmt.Errorf("%w: concurrency %d with a queue of %d for %v", ErrInvalid, c.Limit, c.Queue, c.Wait)
	}
	return checkBudgets(s.Budgets)
}

func knownWindow(length time.Duration) bool {
	for _, w := range windows {
		if w.length == length {
			return true
		}
	}
	return false
}
