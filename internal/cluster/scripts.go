package cluster

import (
	_ "embed"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

//go:embed prelude.lua
var prelude string

// NewScript returns a script for Run: the text goes on behind prelude.lua, which says what it finds.
func NewScript(name, text string) *valkey.Script { return valkey.NewScript(name, prelude+text) }

// FirstArg is the index in ARGV of the first argument of a script, in Lua.
const FirstArg = 4

// layout is the version of the keys in the engine (T v).
const layout = "1"

var (
	//go:embed enter.lua
	enterText string
	//go:embed beat.lua
	beatText string
	//go:embed reaped.lua
	reapedText string
	//go:embed leave.lua
	leaveText string
	//go:embed recover.lua
	recoverText string

	enterScript   = NewScript("enter", enterText).Important()
	beatScript    = NewScript("beat", beatText).Important()
	reapedScript  = NewScript("reaped", reapedText).Important()
	leaveScript   = NewScript("leave", leaveText).Important()
	recoverScript = NewScript("recover", recoverText).Important()
)
