package valkey

import (
	_ "embed"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
)

var (
	//go:embed ledger_accounts.lua
	accountsLua string
	//go:embed ledger_reserve.lua
	reserveLua string
	//go:embed ledger_settle.lua
	settleLua string
	//go:embed ledger_reap.lua
	reapLua string
	//go:embed ledger_restate.lua
	restateLua string
	//go:embed ledger_load.lua
	loadLua string
	//go:embed ledger_look.lua
	lookLua string

	reserveScript = cluster.NewScript("reserve", reserveLua)
	settleScript  = cluster.NewScript("settle", accountsLua+settleLua)
	reapScript    = cluster.NewScript("reap calls", accountsLua+reapLua)
	restateScript = cluster.NewScript("restate calls", accountsLua+restateLua)
	loadScript    = cluster.NewScript("load balances", accountsLua+loadLua)
	lookScript    = cluster.NewScript("look", lookLua)
)
