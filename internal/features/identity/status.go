package identity

import (
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// told notes whether the keys of an issuer could be read.
func (p *People) told(issuer string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.away[issuer]
	switch {
	case err != nil && before == nil:
		p.logger.Error("the keys of an identity provider cannot be read; known keys are good for a day",
			zap.String("identity", issuer), zap.Error(err))
	case err == nil && before != nil:
		p.logger.Info("the keys of an identity provider can be read again", zap.String("identity", issuer))
	}
	if p.away[issuer] = err; err == nil {
		delete(p.away, issuer)
	}
}

// status says which issuers are away.
func (p *People) status() (all []report.PartStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.away)) {
		all = append(all, report.PartStatus{
			Name: "identity " + name, State: report.PartDegraded,
			Detail: "its keys cannot be read: " + p.away[name].Error() + "; known keys are good for a day",
		})
	}
	return all
}
