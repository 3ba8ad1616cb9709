package websession

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// The scripts. session.lua draws the keys, and comes before each of them.
var (
	//go:embed session.lua
	sessionText string
	//go:embed create.lua
	createText string
	//go:embed find.lua
	findText string
	//go:embed update.lua
	updateText string
	//go:embed delete.lua
	deleteText string
	//go:embed look.lua
	lookText string
	//go:embed list.lua
	listText string

	createScript = cluster.NewScript("console session create", sessionText+createText)
	findScript   = cluster.NewScript("console session find", sessionText+findText)
	updateScript = cluster.NewScript("console session update", sessionText+updateText)
	deleteScript = cluster.NewScript("console session delete", sessionText+deleteText)
	lookScript   = cluster.NewScript("console session look", sessionText+lookText)
	listScript   = cluster.NewScript("console session list", sessionText+listText)
)

const (
	// eventEnded has the hashes of sessions that have ended. It may be lost: a beat finds out, too.
	eventEnded = "console-session-ended"
	// batch is how many sessions one message is about: the engine does nothing else meanwhile.
	batch = 256
)

// Node is what is needed of a [cluster.Node].
type Node interface {
	Now() time.Time
	Run(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error)
	Publish(ctx context.Context, kind, text string) error
	On(kind string, f func(text string))
	Join(p cluster.Part)
}

// Shared keeps the sessions of several gateways in Valkey or Redis: a balancer may send each request
// to another gateway.
type Shared struct {
	node    Node
	now     func() time.Time
	watches watches
	used    atomic.Bool // this gateway has been asked for a session
	count   atomic.Int64
	keep    atomic.Pointer[func(Session) bool] // of Retain, until it is done; nil: nothing to do
}

// NewShared returns the store of a gateway. It must be called before the node starts.
func NewShared(node Node, now func() time.Time) *Shared {
	s := &Shared{node: node, now: now}
	node.On(eventEnded, func(text string) { s.watches.ended(strings.Fields(text)...) })
	node.Join(cluster.Part{Name: "console sessions", Beat: s.poll})
	return s
}

// data is what is kept of a session elsewhere, as JSON.
type data struct {
	Tenant  string `json:"t"`
	Key     string `json:"k"`
	KeyHash string `json:"h,omitempty"`
	User    string `json:"u,omitempty"`
	Grant   string `json:"g,omitempty"`
}

func textOf(x *Session) string {
	text, _ := json.Marshal(data{x.Tenant, x.Key, x.KeyHash, x.User, x.Grant}) // of texts
	return string(text)
}

// Create implements [Store].
func (s *Shared) Create(ctx context.Context, x Session, life Life) (string, error) {
	s.used.Store(true)
	id, hash := newID()
	reply, err := s.node.Run(ctx, createScript, hash, textOf(&x), x.owner(), micros(life.Idle), micros(life.Max),
		strconv.Itoa(MaxOfOwner), strconv.Itoa(MaxSessions))
	if err != nil {
		return "", err
	}
	gone, err := reply.AsStrSlice()
	if err != nil {
		return "", err
	}
	s.publishEnded(ctx, gone...)
	return id, nil
}

// publishEnded ends what waits for the end of sessions, at all gateways.
func (s *Shared) publishEnded(ctx context.Context, hashes ...string) {
	if len(hashes) == 0 {
		return
	}
	s.watches.ended(hashes...)
	_ = s.node.Publish(ctx, eventEnded, strings.Join(hashes, " ")) // their next beat finds out
}

// Find implements [Store].
func (s *Shared) Find(ctx context.Context, id string, life Life) (Session, bool, error) {
	return s.find(ctx, id, life, "0")
}

// Peek implements [Store].
func (s *Shared) Peek(ctx context.Context, id string, life Life) (Session, bool, error) {
	return s.find(ctx, id, life, notUsed)
}

// find asks for a session that was used so long ago.
func (s *Shared) find(ctx context.Context, id string, life Life, ago string) (x Session, ok bool, err error) {
	s.used.Store(true)
	hash, ok := hashOf(id)
	if !ok {
		return Session{}, false, nil
	}
	reply, err := s.node.Run(ctx, findScript, hash, micros(life.Idle), micros(life.Max), ago, strconv.Itoa(touchShare))
	if err != nil {
		return Session{}, false, err
	}
	words, err := reply.AsStrSlice()
	if err != nil {
		return Session{}, false, err
	}
	if len(words) < 3 {
		return Session{}, false, nil
	}
	x, err1 := read(words[0])
	var err2, err3 error
	x.Started, err2 = s.local(words[1])
	x.Used, err3 = s.local(words[2])
	if err := errors.Join(err1, err2, err3); err != nil {
		return Session{}, false, err
	}
	return x, true, nil
}

// read returns a session that was kept, without its times.
func read(text string) (Session, error) {
	var d data
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return Session{}, fmt.Errorf("a session that was kept: %w", err)
	}
	return Session{Tenant: d.Tenant, Key: d.Key, KeyHash: d.KeyHash, User: d.User, Grant: d.Grant}, nil
}

// Update implements [Store].
func (s *Shared) Update(ctx context.Context, id string, x Session) error {
	hash, ok := hashOf(id)
	if !ok {
		return nil
	}
	_, err := s.node.Run(ctx, updateScript, hash, textOf(&x))
	return err
}

// Delete implements [Store].
func (s *Shared) Delete(ctx context.Context, id string) error {
	hash, ok := hashOf(id)
	if !ok {
		return nil
	}
	if _, err := s.node.Run(ctx, deleteScript, hash); err != nil {
		return err
	}
	s.publishEnded(ctx, hash)
	return nil
}

// OnEnd implements [Store].
func (s *Shared) OnEnd(id string, life Life, used func() time.Time, f func()) (stop func()) {
	hash, _ := hashOf(id)
	return s.watches.add(hash, life, waiting{used, f})
}

// Retain implements [Store].
func (s *Shared) Retain(keep func(Session) bool) { s.keep.Store(&keep) }

// Len implements [Store].
func (s *Shared) Len() int { return int(s.count.Load()) }

// local is a time of the engine by this gateway's clock.
func (s *Shared) local(us string) (time.Time, error) {
	n, err := strconv.ParseInt(us, 10, 64)
	return time.UnixMicro(n).Add(s.now().Sub(s.node.Now())), err
}

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }

var _ Store = (*Shared)(nil)
