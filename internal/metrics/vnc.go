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
}

// sessionBuckets reach from a short look to a working day, in seconds.
var sessionBuckets = []float64{10, 60, 300, 900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 12 * 3600}

func newVNC() vnc {
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
	}
}

func (v *vnc) collectors() []prometheus.Collector {
	return []prometheus.Collector{v.sessions, v.duration, v.bytes, v.refused}
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
