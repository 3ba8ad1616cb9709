package valkey

import (
	"errors"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// mostCount is the largest number that a script counts to: its numbers are doubles.
const mostCount = 1 << 53

// ratedSubject is a rate of a subject.
type ratedSubject struct {
	subject string
	rate    limits.Rate
}

// ratesOf appends the rates of a unit.
func ratesOf(rates []ratedSubject, unit limits.Unit, subjects []limits.Subject) []ratedSubject {
	for i := range subjects {
		for _, rate := range subjects[i].Rates {
			if rate.Unit == unit {
				rates = append(rates, ratedSubject{subjects[i].Name, rate})
			}
		}
	}
	return rates
}

// window names the key of the window.
func (r *ratedSubject) window() string {
	return r.rate.Unit.String() + "/" + r.seconds() + ":" + r.subject
}

func (r *ratedSubject) seconds() string {
	return strconv.FormatInt(int64(r.rate.Window/time.Second), 10)
}

// admitArgs are the arguments of the script admit, which draws them.
func admitArgs(n int64, rates []ratedSubject, wants []want) []string {
	args := make([]string, 0, 2+3*len(rates)+wantParts*len(wants))
	args = append(args, number(n), strconv.Itoa(len(rates)))
	for i := range rates {
		args = append(args, rates[i].window(), rates[i].seconds(), number(rates[i].rate.Limit))
	}
	for _, w := range wants {
		gives := "0"
		if w.Gives {
			gives = "1"
		}
		args = append(args, w.Subject, strconv.Itoa(w.Limit), strconv.FormatUint(w.Number, 10), strconv.Itoa(w.Held), gives, strconv.Itoa(w.Slots), strconv.Itoa(w.Queued))
	}
	return args
}

func bounded(n int64) int64 { return max(min(n, mostCount), -mostCount) }

const (
	wantParts  = 7 // arguments of each statement
	shareParts = 5 // of the answer to each statement
)

// admitted is the answer of the script admit, which draws it.
type admitted struct {
	reading limits.Reading
	refusal *limits.RateRefusal // nil if the call was counted
	windows []limits.Counted
	shares  []granted
}

func parseAdmitted(reply valkey.Reply, n int64, rates []ratedSubject, wants []want) (a admitted, err error) {
	numbers, err := reply.AsIntSlice()
	if err != nil || len(numbers) < 2 {
		return a, errors.Join(err, errAnswer)
	}
	counted, now := numbers[0] == 1, numbers[1]*int64(time.Microsecond)
	var stated []int64
	if a.windows, stated, err = parseWindows(numbers[2:], rates); err != nil {
		return a, err
	}
	a.reading, a.refusal = limits.Count(n, now, a.windows)
	if counted != (a.refusal == nil) || counted && len(stated) != shareParts*len(wants) {
		return a, errAnswer
	}
	if !counted {
		return a, nil
	}
	for i, w := range wants {
		p := stated[i*shareParts:]
		a.shares = append(a.shares, granted{Subject: w.Subject, Number: uint64(p[0]), Slots: int(p[1]), Held: int(p[2]), Waiting: int(p[3]), Crowded: p[4] > 0})
	}
	return a, nil
}

// parseWindows reads windows as the scripts say them, and returns what is behind them.
func parseWindows(numbers []int64, rates []ratedSubject) (all []limits.Counted, left []int64, err error) {
	windows := make([]limits.Window, len(rates))
	for i, r := range rates {
		if len(numbers) < 3 || numbers[2] < 0 || int64(len(numbers)-3)/2 < numbers[2] {
			return nil, nil, errAnswer
		}
		slots := numbers[3 : 3+2*numbers[2]]
		windows[i] = limits.NewWindow(r.rate.Window)
		windows[i].Load(numbers[0], numbers[1], slots)
		all = append(all, limits.Counted{Subject: r.subject, Rate: r.rate, Window: &windows[i]})
		numbers = numbers[3+len(slots):]
	}
	return all, numbers, nil
}
