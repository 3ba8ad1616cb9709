// Package shared keeps the limits of several gateways together, in Valkey or Redis.
package shared
