package modelcall

import "github.com/gatehouse-proxy/gatehouse/internal/limits"

// Applying returns the subjects that limit a caller's calls to a model, as they are configured: the
// key, its tenant, the gateway, and the patterns of the model.
func (l *Limits) Applying(caller *Caller, model string) []limits.Subject {
	subjects := append([]limits.Subject(nil), l.Of(caller).subjects()...)
	for _, m := range l.matching(model) {
		if !isUnlimited(m.Subject) {
			subjects = append(subjects, m.Subject)
		}
	}
	return subjects
}
