package console

import "time"

// aboutPage is what GET /v1/about answers. What the key may not know is nil or zero.
type aboutPage struct {
	Version   string
	Commit    string
	Caddy     string `json:"caddy_version"`
	GoVersion string `json:"go_version"`
	Desktops  *struct {
		Domain string
		Port   int
	}
	RuntimeKeys bool `json:"runtime_keys"`
	Cluster     *struct{ Name, Node string }
	Configured  time.Time `json:"configured_at"`
	Keep        *struct {
		Rows   int64 `json:"rows_seconds"`
		Series int64 `json:"series_seconds"`
		Size   int64 `json:"size_bytes"`
	}
	Store *struct {
		Bytes int64
		Rows  *int64 `json:"rows_bytes"`
	}
	Condition *struct {
		State string
		Parts []aboutPart
	}
	Certificates []struct {
		Name    string
		Expires time.Time `json:"expires_at"`
	}
}

// aboutPart is the state of a part of the gateway.
type aboutPart struct {
	Name, State, Detail string
	Since               time.Time // zero: it is well, or that is not known
}

// Tone is the colour of the state.
func (p aboutPart) Tone() string {
	switch p.State {
	case "ok":
		return "good"
	case "degraded":
		return "warn"
	}
	return "bad"
}

// Days is a number of seconds as days, or as a shorter time.
func (aboutPage) Days(seconds int64) string {
	if whole := int64(24 * time.Hour / time.Second); seconds%whole == 0 {
		return plural(seconds/whole, "day")
	}
	return inWords(time.Duration(seconds) * time.Second)
}

// about shows what the gateway is.
func about(v *visit) error {
	var p aboutPage
	if err := v.get("/v1/about", nil, &p); err != nil {
		return err
	}
	return v.render("about", &p)
}
