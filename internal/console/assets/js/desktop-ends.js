// Why a connection has ended, in words, and what follows:
//
//   "retry"      it is tried again after pauses, then on demand
//   "ask"        it is tried again on demand
//   "occupied"   somebody else has the desktop
//   "sign in"    the session of the console has ended
//   ""           nothing: the desktop is gone

export class End extends Error {
	constructor(message, next, more = {}) {
		super(message);
		this.next = next;
		Object.assign(this, more);
	}
}

// pauses are those before the tries after a failure, in seconds.
export const pauses = [2, 4, 8];

// steady is how long a connection must have been open for the pauses to begin again, in milliseconds.
export const steady = 30_000;

// The codes of the gateway's close message, and those of WebSocket itself.
const codes = {
	1000: ["Ended.", "ask"],
	1001: ["The gateway has closed the connection.", "retry"],
	1002: ["The connection failed.", "retry"],
	1005: ["Ended.", "ask"],
	1006: ["The connection was lost.", "retry"],
	1008: ["Refused.", "ask"],
	4001: ["Released.", ""],
	4002: ["Taken over.", "ask"],
	4003: ["Ended.", "ask"],
	4004: ["Signed out.", "sign in"],
	4005: ["Ended.", "ask"],
	4006: ["Ended.", "ask"],
	4007: ["Disconnected.", "retry"],
	4008: ["Ended.", ""],
	4009: ["Ended.", "ask"],
};

// closed is the end of a socket that was closed with this code. The gateway's own words say more.
export function closed(code, reason) {
	const [message, next] = codes[code] ?? [`Ended (${code}).`, "ask"];
	return new End(reason ? `${message} ${reason}` : message, next);
}

// refused is the end of an order that the console answered with this status.
export function refused(status, answer) {
	const error = answer?.error;
	const message = error?.message ?? `The gateway answered ${status}.`;
	if (error?.code === "workstation_occupied") {
		return new End(message, "occupied", { mayTakeOver: error.may_take_over, mayJoin: error.may_join });
	}
	return new End(message, status === 404 ? "" : status >= 500 ? "retry" : "ask");
}

// failed is the end of an order or a connection that did not get that far.
export function failed(error) {
	return new End(`The gateway cannot be reached (${error.message}).`, "retry");
}

export const signedOut = () => new End("You are not signed in any more.", "sign in");
