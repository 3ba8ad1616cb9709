package valkey

import (
	"context"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Read implements limits.Rates.
func (a *Admission) Read(ctx context.Context, subjects []limits.Subject) ([]limits.RateUse, error) {
	var args []string
	var uses []limits.RateUse
	for i := range subjects {
		for _, rate := range subjects[i].Rates {
			r := ratedSubject{subjects[i].Name, rate}
			seconds := r.seconds()
			args, uses = append(args, r.window(seconds), seconds), append(uses, limits.RateUse{Rate: rate})
		}
	}
	read, ok := a.look(ctx, len(uses), args)
	if !ok {
		return a.local.Read(ctx, subjects)
	}
	for i := range uses {
		uses[i].Used, uses[i].Reset = read[2*i], micros(read[2*i+1])
	}
	return uses, ctx.Err()
}

// InUse implements limits.Places. From a limit of 64 on it contains the slots that gateways keep for
// their next calls. While the engine does not answer, it returns the use of this gateway.
func (a *Admission) InUse(ctx context.Context, subjects []limits.Subject) ([]limits.ConcurrencyUse, error) {
	var args []string
	for i := range subjects {
		if subjects[i].Concurrency.Limit > 0 {
			args = append(args, subjects[i].Name)
		}
	}
	uses := make([]limits.ConcurrencyUse, len(subjects))
	read, ok := a.look(ctx, 0, args)
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

// look reads rates and places: two numbers of each.
func (a *Admission) look(ctx context.Context, rates int, args []string) ([]int64, bool) {
	if len(args) == 0 {
		return nil, true
	}
	if a.breaker.open.Load() {
		return nil, false
	}
	reply, err := a.node.Run(ctx, a.scripts.look, append([]string{strconv.Itoa(rates)}, args...)...)
	if err != nil {
		return nil, false
	}
	read, err := reply.AsIntSlice()
	return read, err == nil && len(read) == 2*rates+2*(len(args)-2*rates)
}
