// Package recordings is the block record of vnc, with the endpoints of recordings.
package recordings

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/recordings" // its endpoints
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/recordings"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("recordings", func() core.Feature { return new(Feature) }, sources) }

// Feature is the member of vnc.
type Feature struct {
	// Record is where and how sessions are recorded whose rules say so. Default: none can be.
	Record *Record `json:"record,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"record": caddykit.Single(&f.Record, (*Record).read)}
}

// Records reports whether sessions can be recorded.
func (f *Feature) Records() bool { return f.Record != nil }

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	settings, secrets, err := f.Record.build(b.Ctx.Logger(), b.DataDir)
	if err != nil {
		return fmt.Errorf("vnc: record: %w", err)
	}
	b.Hide(secrets...)
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return recordings.Feature(c, settings) })
	return nil
}

// Record is where and how sessions are recorded. Which are, say session rules.
type Record struct {
	// Dir is the folder of the recordings (created with mode 0700). Default: "recordings" in
	// data_dir.
	Dir string `json:"dir,omitempty"`

	// Recipients are the age public keys ("age1…") of those who can read recordings. Required.
	Recipients []string `json:"recipients"`

	// Keep is for how long recordings are kept, by days in UTC. Default: 30d.
	Keep caddy.Duration `json:"keep,omitempty"`

	// MaxSize bounds all recordings in the folder, in bytes; the oldest are deleted first. Default:
	// 200 GiB.
	MaxSize int64 `json:"max_size,omitempty"`

	// Input is what is kept of what people do at the desktop: "none", "pointer" or "keys", which
	// has the pointer too, and passwords that are typed. Default: pointer.
	Input string `json:"input,omitempty"`

	// ReplayIdentity is {file./path} or {env.NAME}: the private key with which this gateway replays
	// recordings. Default: none, so that it can read none.
	ReplayIdentity string `json:"replay_identity,omitempty" placeholders:"yes"`
}

// read reads how sessions are recorded:
//
//	record {
//		dir PATH
//		recipient age1…     # any number
//		keep DURATION
//		max_size SIZE
//		input none|pointer|keys
//		replay_identity {file./path}
//	}
func (r *Record) read(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{
		"dir": caddykit.Word(&r.Dir),
		"recipient": caddykit.Listed(&r.Recipients, func(text *string, d *caddyfile.Dispenser) error {
			return caddykit.Word(text).Read(d)
		}),
		"keep":            caddykit.Value(&r.Keep, caddykit.ParseDuration),
		"max_size":        caddykit.Value(&r.MaxSize, caddykit.ParseSize),
		"input":           caddykit.Word(&r.Input),
		"replay_identity": caddykit.Word(&r.ReplayIdentity),
	}.Block(d)
}

// inputs are the words of Input.
var inputs = []string{"none", "pointer", "keys"}

// build checks and resolves the block, nil without one, and returns the secrets in it.
func (r *Record) build(logger *zap.Logger, dataDir string) (*recording.Settings, []string, error) {
	if r == nil {
		return nil, nil, nil
	}
	s := &recording.Settings{Dir: r.Dir, Keep: time.Duration(r.Keep), MaxSize: r.MaxSize, Input: recording.InputPointer}
	if s.Dir == "" {
		s.Dir = filepath.Join(dataDir, "recordings")
	}
	var err error
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return nil, nil, fmt.Errorf("dir: %w", err)
	}
	if r.Input != "" {
		at := slices.Index(inputs, r.Input)
		if at < 0 {
			return nil, nil, fmt.Errorf("input %q: want none, pointer or keys", r.Input)
		}
		s.Input = recording.Input(at)
	}
	if s.Keep < 0 || s.Keep > 0 && s.Keep < 24*time.Hour {
		return nil, nil, fmt.Errorf("keep %v: want at least 1d: recordings are deleted by days", s.Keep)
	}
	if len(r.Recipients) == 0 {
		return nil, nil, errors.New("want a recipient, the public key (age1…) that age-keygen prints")
	}
	for _, text := range r.Recipients {
		if isIdentity(text) { // the text is a secret
			return nil, nil, errors.New("recipient: that is a private key; want the public one, age1…")
		}
		some, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, nil, fmt.Errorf("recipient %q: want an age public key: %w", text, err)
		}
		s.Recipients = append(s.Recipients, some...)
	}
	var sealed bytes.Buffer
	seal, err := age.Encrypt(&sealed, s.Recipients...)
	if err == nil {
		err = seal.Close()
	}
	if err != nil { // some that do not go together
		return nil, nil, fmt.Errorf("recipient: %w", err)
	}
	if s.Input == recording.InputKeys {
		logger.Warn("recordings have the keys that people press, and so the passwords that they type (record: input keys)")
	}
	logger.Info("sessions whose rules say so are recorded", zap.String("dir", s.Dir))
	if r.ReplayIdentity == "" {
		return s, nil, nil
	}
	secret, err := core.ResolveSecret(logger, "replay_identity", r.ReplayIdentity)
	if err != nil {
		return nil, nil, err
	}
	if s.Identities, err = age.ParseIdentities(strings.NewReader(secret)); err != nil { // it has the secret
		return nil, nil, errors.New("replay_identity: want the file that age-keygen wrote, such as {file./etc/gatehouse/auditor.key}, with AGE-SECRET-KEY-1…")
	}
	if _, err := age.Decrypt(&sealed, s.Identities...); err != nil {
		return nil, nil, errors.New("replay_identity: it is the private key of no recipient: what is recorded could not be replayed. " +
			"age-keygen -y prints its public key, for a line recipient; the file may have several keys, also older ones")
	}
	// The words of comments are no secrets.
	return s, slices.DeleteFunc(strings.Fields(secret), func(word string) bool { return !isIdentity(word) }), nil
}

// isIdentity reports whether a text begins as a private key of age does.
func isIdentity(text string) bool { return strings.HasPrefix(strings.ToUpper(text), "AGE-") }
