// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Agents, their keys and endpoints, each under the account that registered it.
/// The DID of an agent is did:sage:<network>:<account>: nobody can register the DID of somebody else, and only that account changes
/// the record. There is no administrator, no operator, no hook, no stake and no pause. A deactivated agent stays deactivated.
/// The chain verifies proofs of secp256k1 keys. It cannot verify those of Ed25519 and X25519 keys, claims nothing about them, and
/// keeps them for readers, who must verify them.
contract SageRegistry {
    /// Numbered as in earlier registries.
    enum KeyKind { Secp256k1, Ed25519, X25519 }
    enum AgentState { None, Active, Deactivated }

    struct NewKey {
        string name;
        KeyKind kind;
        bytes data;
        bytes proof;
    }

    /// `endsAt`: 0, or the time from which the key is not valid: it was rotated or revoked.
    struct Key {
        string name;
        KeyKind kind;
        bool revoked;
        uint64 addedAt;
        uint64 endsAt;
        bytes data;
        bytes proof;
    }

    struct Agent {
        AgentState state;
        uint64 version;
        uint64 registeredAt;
        uint64 updatedAt;
        string endpoint;
        Key[] keys;
    }

    /// Keys of one agent, with those out of use.
    uint256 public constant MAX_KEYS = 64;
    uint256 public constant MAX_NAME_BYTES = 64;
    uint256 public constant MAX_ENDPOINT_BYTES = 2048;
    /// The longest life of a message, a reader's cache and the difference of clocks.
    uint64 public constant MAX_OVERLAP_SECONDS = 390;
    /// A commitment is revealed in a later block, at most this many blocks later.
    uint256 public constant MAX_REVEAL_BLOCKS = 256;

    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    error NotActive();
    error AlreadyRegistered();
    error AlreadyCommitted();
    error NoCommitment();
    error RevealTooSoon();
    error RevealTooLate();
    error NoKeys();
    error TooManyKeys();
    error InvalidName();
    error NameTaken(string name);
    error InvalidKey(string name);
    error InvalidProof(string name);
    error KeyExists(string name);
    error UnknownKey(string name);
    error KeyOutOfUse(string name);
    error OtherKind(string name);
    error OverlapTooLong();
    error EndpointTooLong();

    event Committed(address indexed agent, bytes32 commitment);
    event Registered(address indexed agent, uint64 version, string endpoint);
    event KeyAdded(address indexed agent, uint64 version, string name, KeyKind kind);
    event KeyRotated(address indexed agent, uint64 version, string oldName, string newName, uint64 endsAt);
    event KeyRevoked(address indexed agent, uint64 version, string name);
    event EndpointChanged(address indexed agent, uint64 version, string endpoint);
    event Deactivated(address indexed agent, uint64 version);

    mapping(address => Agent) private agents;
    /// The block of each commitment, by account: nobody can take or replace the commitment of somebody else.
    mapping(address => mapping(bytes32 => uint256)) public commitments;

    /// @notice First step of a registration: binds it without showing it.
    function commit(bytes32 commitment) external {
        uint256 made = commitments[msg.sender][commitment];
        if (made != 0 && block.number - made <= MAX_REVEAL_BLOCKS) revert AlreadyCommitted();
        commitments[msg.sender][commitment] = block.number;
        emit Committed(msg.sender, commitment);
    }

    /// @notice Second step, in a later block.
    function register(NewKey[] calldata keys, string calldata endpoint, bytes32 salt) external {
        Agent storage agent = agents[msg.sender];
        if (agent.state != AgentState.None) revert AlreadyRegistered();
        useCommitment(commitmentOf(msg.sender, keys, endpoint, salt));
        if (keys.length == 0) revert NoKeys();
        agent.state = AgentState.Active;
        agent.registeredAt = uint64(block.timestamp);
        setEndpointOf(agent, endpoint);
        uint64 version = changed(agent);
        emit Registered(msg.sender, version, endpoint);
        for (uint256 i = 0; i < keys.length; i++) {
            append(agent, keys[i]);
            emit KeyAdded(msg.sender, version, keys[i].name, keys[i].kind);
        }
    }

    function addKey(NewKey calldata key) external {
        Agent storage agent = ownActive();
        append(agent, key);
        emit KeyAdded(msg.sender, changed(agent), key.name, key.kind);
    }

    /// @notice Replaces a key in one step. What the old one signed stays valid for `overlap` seconds.
    function rotate(string calldata oldName, NewKey calldata key, uint64 overlap) external {
        if (overlap > MAX_OVERLAP_SECONDS) revert OverlapTooLong();
        Agent storage agent = ownActive();
        Key storage old = inUse(agent, oldName);
        if (old.kind != key.kind) revert OtherKind(oldName);
        uint64 endsAt = uint64(block.timestamp) + overlap;
        old.endsAt = endsAt;
        append(agent, key);
        emit KeyRotated(msg.sender, changed(agent), oldName, key.name, endsAt);
    }

    /// @notice Takes a key out of use at once, also one that was rotated and is still valid. It stays listed, as revoked.
    function revoke(string calldata name) external {
        Agent storage agent = ownActive();
        Key storage key = find(agent, name);
        if (key.revoked) revert KeyOutOfUse(name);
        key.revoked = true;
        key.endsAt = uint64(block.timestamp);
        emit KeyRevoked(msg.sender, changed(agent), name);
    }

    function setEndpoint(string calldata endpoint) external {
        Agent storage agent = ownActive();
        setEndpointOf(agent, endpoint);
        emit EndpointChanged(msg.sender, changed(agent), endpoint);
    }

    /// @notice Final: nothing brings the agent back, and the account cannot register again.
    function deactivate() external {
        Agent storage agent = ownActive();
        agent.state = AgentState.Deactivated;
        emit Deactivated(msg.sender, changed(agent));
    }

    function getAgent(address account) external view returns (Agent memory) {
        return agents[account];
    }

    function commitmentOf(address account, NewKey[] calldata keys, string calldata endpoint, bytes32 salt)
        public
        view
        returns (bytes32)
    {
        return keccak256(abi.encode("sage-claim", block.chainid, address(this), account, keys, endpoint, salt));
    }

    /// @notice What the private half of a key signs to prove its possession, for one name in the record of one account here.
    function challengeOf(address account, string calldata name, KeyKind kind, bytes calldata data)
        public
        view
        returns (bytes memory)
    {
        string memory registry = string.concat("eip155:", decimal(block.chainid), ":", hexOf(address(this)));
        return bytes.concat(
            "sage-pop-0.10.0",
            sized(bytes(registry)),
            sized(bytes(hexOf(account))),
            sized(bytes(name)),
            sized(algorithmOf(kind)),
            sized(data)
        );
    }

    function useCommitment(bytes32 commitment) private {
        uint256 made = commitments[msg.sender][commitment];
        if (made == 0) revert NoCommitment();
        if (block.number == made) revert RevealTooSoon();
        if (block.number - made > MAX_REVEAL_BLOCKS) revert RevealTooLate();
        delete commitments[msg.sender][commitment];
    }

    function ownActive() private view returns (Agent storage agent) {
        agent = agents[msg.sender];
        if (agent.state != AgentState.Active) revert NotActive();
    }

    function changed(Agent storage agent) private returns (uint64) {
        agent.updatedAt = uint64(block.timestamp);
        return ++agent.version;
    }

    function setEndpointOf(Agent storage agent, string calldata endpoint) private {
        if (bytes(endpoint).length > MAX_ENDPOINT_BYTES) revert EndpointTooLong();
        agent.endpoint = endpoint;
    }

    function append(Agent storage agent, NewKey calldata key) private {
        if (agent.keys.length >= MAX_KEYS) revert TooManyKeys();
        checkName(key.name);
        bytes32 nameHash = keccak256(bytes(key.name));
        bytes32 dataHash = keccak256(key.data);
        for (uint256 i = 0; i < agent.keys.length; i++) {
            if (keccak256(bytes(agent.keys[i].name)) == nameHash) revert NameTaken(key.name);
            if (keccak256(agent.keys[i].data) == dataHash) revert KeyExists(key.name);
        }
        checkKey(key);
        Key storage added = agent.keys.push();
        added.name = key.name;
        added.kind = key.kind;
        added.addedAt = uint64(block.timestamp);
        added.data = key.data;
        added.proof = key.proof;
    }

    function checkKey(NewKey calldata key) private view {
        if (key.kind == KeyKind.Secp256k1) {
            if (key.data.length != 65 || key.data[0] != 0x04) revert InvalidKey(key.name);
            address signer = recovered(keccak256(challengeOf(msg.sender, key.name, key.kind, key.data)), key.proof);
            if (signer == address(0) || signer != address(uint160(uint256(keccak256(key.data[1:])))))
                revert InvalidProof(key.name);
        } else {
            if (key.data.length != 32) revert InvalidKey(key.name);
            if (key.proof.length != 64) revert InvalidProof(key.name);
        }
    }

    /// Zero for anything but r, s, v with the smaller s: each signature has one spelling.
    function recovered(bytes32 digest, bytes calldata proof) private pure returns (address) {
        if (proof.length != 65) return address(0);
        uint256 s = uint256(bytes32(proof[32:64]));
        uint8 v = uint8(proof[64]);
        if (s > HALF_ORDER || (v != 27 && v != 28)) return address(0);
        return ecrecover(digest, v, bytes32(proof[0:32]), bytes32(s));
    }

    /// Letters, digits, dots, dashes and underscores: a name is the fragment of a DID URL.
    function checkName(string calldata name) private pure {
        bytes calldata text = bytes(name);
        if (text.length == 0 || text.length > MAX_NAME_BYTES) revert InvalidName();
        for (uint256 i = 0; i < text.length; i++) {
            bytes1 c = text[i];
            bool letter = (c >= "a" && c <= "z") || (c >= "A" && c <= "Z");
            if (!letter && !(c >= "0" && c <= "9") && c != "-" && c != "_" && c != ".") revert InvalidName();
        }
    }

    function find(Agent storage agent, string calldata name) private view returns (Key storage) {
        bytes32 wanted = keccak256(bytes(name));
        for (uint256 i = 0; i < agent.keys.length; i++)
            if (keccak256(bytes(agent.keys[i].name)) == wanted) return agent.keys[i];
        revert UnknownKey(name);
    }

    function inUse(Agent storage agent, string calldata name) private view returns (Key storage key) {
        key = find(agent, name);
        if (key.endsAt != 0) revert KeyOutOfUse(name);
    }

    function algorithmOf(KeyKind kind) private pure returns (bytes memory) {
        if (kind == KeyKind.Ed25519) return "ed25519";
        return kind == KeyKind.X25519 ? bytes("x25519") : bytes("sage-secp256k1-keccak256");
    }

    function sized(bytes memory text) private pure returns (bytes memory) {
        return bytes.concat(bytes2(uint16(text.length)), text);
    }

    function decimal(uint256 value) private pure returns (string memory) {
        if (value == 0) return "0";
        bytes memory digits;
        for (; value != 0; value /= 10) digits = bytes.concat(bytes1(uint8(48 + (value % 10))), digits);
        return string(digits);
    }

    function hexOf(address account) private pure returns (string memory) {
        bytes16 digits = "0123456789abcdef";
        bytes memory text = new bytes(42);
        text[0] = "0";
        text[1] = "x";
        uint160 value = uint160(account);
        for (uint256 i = 41; i > 1; i--) {
            text[i] = digits[value & 0xf];
            value >>= 4;
        }
        return string(text);
    }
}
