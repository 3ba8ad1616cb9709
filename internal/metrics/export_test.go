package metrics

// Forget empties the cache of series.
func (m *Metrics) Forget() { m.calls.cache.of = nil }
