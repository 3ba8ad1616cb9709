package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// vnc are the collectors of desktops.
type vnc struct {
	sessions *prometheus.CounterVec
	duration prometheus.Histogram
	bytes    *prometheus.CounterVec
	refused  *prometheus.CounterVec
	open     prometheus.GaugeFunc
	halfOpen prometheus.GaugeFunc
	ends     certificateEnds
	sources  sourcesUp
}

// sourcesUp collects a gauge for each source of workstations.
type sourcesUp struct {
	desc *prometheus.Desc
	list func() map[string]bool
}

// Describe implements prometheus.Collector.
func (s sourcesUp) Describe(ch chan<- *prometheus.Desc) { ch <- s.desc }

// Collect implements prometheus.Collector.
func (s sourcesUp) Collect(ch chan<- prometheus.Metric) {
	for name, up := range s.list() {
		value := 0.0
		if up {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, value, name)
	}
}

// certificateEnds collects when the certificate of viewers expires, if there is one.
type certificateEnds struct {
	desc *prometheus.Desc
	at   func() time.Time
}

// Describe implements prometheus.Collector.
func (c certificateEnds) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c certificateEnds) Collect(ch chan<- prometheus.Metric) {
	if at := c.at(); !at.IsZero() {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(at.Unix()))
	}
}

// sessionBuckets reach from a short look to a working day, in seconds.
var sessionBuckets = []float64{10, 60, 300, 900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 12 * 3600}

func newVNC(g Gauges) vnc {
	return vnc{
		sessions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "vnc_sessions_total",
			Help: "VNC sessions that ended, by security type of the viewer's side and why they ended.",
		}, []string{"security", "ended"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "vnc_session_duration_seconds", Buckets: sessionBuckets,
			Help: "Length of VNC sessions.",
		}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "vnc_bytes_total",
			Help: "Bytes of ended VNC sessions, by direction (up: to the workstation, down: to the viewer).",
		}, []string{"direction"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "vnc_refused_total",
			Help: "VNC connections that ended before a session began, by reason.",
		}, []string{"reason"}),
		open: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "vnc_sessions_open",
			Help: "VNC sessions that are open.",
		}, g.Sessions),
		halfOpen: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "vnc_connections_half_open",
			Help: "VNC connections whose handshake is under way.",
		}, g.HalfOpen),
		ends: certificateEnds{prometheus.NewDesc(prometheus.BuildFQName(namespace, "vnc", "certificate_expires_timestamp_seconds"),
			"When the certificate of VNC viewers expires, as a Unix time.", nil, nil), g.CertificateEnds},
		sources: sourcesUp{prometheus.NewDesc(prometheus.BuildFQName(namespace, "source", "up"),
			"1 if a source of workstations answers, 0 since five questions in a row have failed.", []string{"source"}, nil), g.Sources},
	}
}

func (v *vnc) collectors() []prometheus.Collector {
	return []prometheus.Collector{v.sessions, v.duration, v.bytes, v.refused, v.open, v.halfOpen, v.ends, v.sources}
}

// Session is one ended VNC session.
type Session struct {
	Security, Ended string // from closed sets
	Duration        time.Duration
	Up, Down        int64 // bytes
}

// SessionEnded counts one session.
func (m *Metrics) SessionEnded(s Session) {
	m.vnc.sessions.WithLabelValues(s.Security, s.Ended).Inc()
	m.vnc.duration.Observe(s.Duration.Seconds())
	m.vnc.bytes.WithLabelValues("up").Add(float64(s.Up))
	m.vnc.bytes.WithLabelValues("down").Add(float64(s.Down))
}

// VNCRefused counts one VNC connection that failed. The reason is one of a closed set.
func (m *Metrics) VNCRefused(reason string) { m.vnc.refused.WithLabelValues(reason).Inc() }
