package modelcall

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// keep drops the targets that refuse the call. If all do, the error is that of the first.
func (r *routed) keep(refuse func(*target) error) (first error) {
	kept := r.targets[:0]
	for _, t := range r.targets {
		err := refuse(t)
		if err == nil {
			kept = append(kept, t)
			continue
		}
		if first == nil {
			first = err
		}
		r.refused(t.id, err)
	}
	if r.targets = kept; len(kept) > 0 {
		return nil
	}
	return first
}

// lacks notes the targets of a name that cannot be called now.
func (r *routed) lacks(found Found) {
	for _, s := range found.Skipped {
		r.skip(s)
	}
}

// refused notes that a target is not asked because it refuses the call.
func (r *routed) refused(target string, err error) {
	refusal := apierror.From(err)
	r.skip(activity.Skipped{Target: target, Code: string(refusal.Code), RefusedBy: refusal.RefusedBy})
}

// skipAll notes that targets are not asked, and why.
func (r *routed) skipAll(targets []*target, why string) {
	for _, t := range targets {
		r.skip(activity.Skipped{Target: t.id, Code: why})
	}
}

// skip notes that a target is not asked. The first reason counts.
func (r *routed) skip(s activity.Skipped) {
	if !slices.ContainsFunc(r.skipped, func(other activity.Skipped) bool { return other.Target == s.Target }) {
		r.skipped = append(r.skipped, s)
	}
}

// asks notes that a target is asked, and which of those behind it are not asked first because they
// cool down.
func (r *routed) asks(t *target, behind []*target) {
	r.skipped = slices.DeleteFunc(r.skipped, func(s activity.Skipped) bool { return s.Target == t.id })
	for _, other := range behind {
		if other.rank < t.rank {
			r.skip(activity.Skipped{Target: other.id, Code: apierror.Cooling})
		}
	}
}
