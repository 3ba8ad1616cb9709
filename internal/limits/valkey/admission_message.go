package valkey

import (
	"fmt"
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
func (r *ratedSubject) window(seconds string) string {
	return r.rate.Unit.String() + "/" + seconds + ":" + r.subject
}

func (r *ratedSubject) seconds() string {
	return strconv.FormatInt(int64(r.rate.Window/time.Second), 10)
}

// admitArgs are the arguments of the script admit, which draws them.
func admitArgs(n int64, rates []ratedSubject, wants []limits.Want) []string {
	args := make([]string, 0, 2+3*len(rates)+wantParts*len(wants))
	args = append(args, bounded(n), strconv.Itoa(len(rates)))
	for i := range rates {
		seconds := rates[i].seconds()
		args = append(args, rates[i].window(seconds), seconds, bounded(rates[i].rate.Limit))
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

func bounded(n int64) string { return strconv.FormatInt(max(min(n, mostCount), -mostCount), 10) }

// admitAnswer is the answer of the script admit, which draws it.
type admitAnswer []int64

const (
	wantParts  = 7 // arguments of each statement
	admitHead  = 4 // before the slots of the rates
	shareParts = 5 // of each statement
)

func answered(reply valkey.Reply, err error, rates, wants int) (admitAnswer, error) {
	if err != nil {
		return nil, err
	}
	answer, err := reply.AsIntSlice()
	if err != nil {
		return nil, err
	}
	if len(answer) != admitHead && len(answer) != admitHead+rates+shareParts*wants || answer[0] < 0 || answer[0] > int64(rates) {
		return nil, fmt.Errorf("the script answers %d numbers for %d rates and %d statements", len(answer), rates, wants)
	}
	return answer, nil
}

// refusal returns the rate that refuses the call, nil if it is admitted.
func (a admitAnswer) refusal(rates []ratedSubject) *limits.RateRefusal {
	if a[0] == 0 {
		return nil
	}
	r := rates[a[0]-1]
	refusal := &limits.RateRefusal{Reading: limits.Reading{Subject: r.subject, Rate: r.rate, Remaining: a[2], Reset: micros(a[3])}}
	if a[1] < 0 {
		refusal.Never = true
	} else {
		refusal.RetryAfter = micros(a[1])
	}
	return refusal
}

func (a admitAnswer) reading(rates []ratedSubject) limits.Reading {
	if a[1] == 0 {
		return limits.Reading{}
	}
	r := rates[a[1]-1]
	return limits.Reading{Subject: r.subject, Rate: r.rate, Remaining: a[2], Reset: micros(a[3])}
}

// slot is the one that has counted the call.
func (a admitAnswer) slot(rate int) int64 { return a[admitHead+rate] }

func (a admitAnswer) shares(rates int, wants []limits.Want) []limits.Share {
	if len(wants) == 0 {
		return nil
	}
	shares, parts := make([]limits.Share, len(wants)), a[admitHead+rates:]
	for i, w := range wants {
		p := parts[i*shareParts:]
		shares[i] = limits.Share{Subject: w.Subject, Number: uint64(p[0]), Slots: int(p[1]), Held: int(p[2]), Waiting: int(p[3]), Crowded: p[4] > 0}
	}
	return shares
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
