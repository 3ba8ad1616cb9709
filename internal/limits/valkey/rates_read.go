package valkey

import (
	"context"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Read implements limits.Rates.
func (a *Rates) Read(ctx context.Context, subjects []limits.Subject) ([]limits.RateUse, error) {
	var rates []ratedSubject
	for i := range subjects {
		for _, rate := range subjects[i].Rates {
			rates = append(rates, ratedSubject{subjects[i].Name, rate})
		}
	}
	now, windows, _, ok := a.look(ctx, rates, nil)
	if !ok {
		return a.local.Read(ctx, subjects)
	}
	var uses []limits.RateUse
	for i, w := range windows {
		uses = append(uses, limits.RateUse{Rate: rates[i].rate})
		uses[i].Used, uses[i].Reset = w.Window.Used(now)
	}
	return uses, ctx.Err()
}

// InUse implements limits.SharedSlots. From a limit of 64 on it contains the slots that gateways keep for
// their next calls. While the engine does not answer, it returns the use of this gateway.
func (a *Rates) InUse(ctx context.Context, subjects []limits.Subject) ([]limits.ConcurrencyUse, error) {
	var limited []string
	for i := range subjects {
		if subjects[i].Concurrency.Limit > 0 {
			limited = append(limited, subjects[i].Name)
		}
	}
	uses := make([]limits.ConcurrencyUse, len(subjects))
	_, _, read, ok := a.look(ctx, nil, limited)
	for i, next := 0, 0; i < len(subjects); i++ {
		switch {
		case !ok:
			uses[i].InUse, uses[i].Waiting = a.limiter.InUse(subjects[i].Name)
		case subjects[i].Concurrency.Limit > 0:
			// A gateway that has all slots does not tell at once that calls wait there.
			_, waiting := a.limiter.InUse(subjects[i].Name)
			uses[i].InUse, uses[i].Waiting = int(read[next]), max(int(read[next+1]), waiting)
			next += 2
		}
	}
	return uses, ctx.Err()
}

// look reads windows at a time, and two numbers for each of the subjects.
func (a *Rates) look(ctx context.Context, rates []ratedSubject, subjects []string) (now int64, windows []limits.Counted, read []int64, ok bool) {
	if len(rates)+len(subjects) == 0 {
		return 0, nil, nil, true
	}
	if a.breaker.open.Load() {
		return 0, nil, nil, false
	}
	args := []string{strconv.Itoa(len(rates))}
	for i := range rates {
		args = append(args, rates[i].window())
	}
	reply, err := a.node.Run(ctx, a.scripts.look, append(args, subjects...)...)
	if err != nil {
		return 0, nil, nil, false
	}
	numbers, err := reply.AsIntSlice()
	if err != nil || len(numbers) == 0 {
		return 0, nil, nil, false
	}
	windows, read, err = parseWindows(numbers[1:], rates)
	return numbers[0] * int64(time.Microsecond), windows, read, err == nil && len(read) == 2*len(subjects)
}
